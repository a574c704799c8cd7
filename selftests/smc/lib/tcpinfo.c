// SPDX-License-Identifier: GPL-2.0
/* TCP_INFO with the counters of bytes.  Tested by its users. */
#include "tcpinfo.h"

struct info info_of(int fd)
{
	struct info info = {};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) ||
	    len != sizeof(info))
		die("TCP_INFO");
	return info;
}
