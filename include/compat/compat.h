/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of newer kernels for older ones.
 *
 * Included before every source file.  The code uses the newest name of a
 * thing; this file maps it to what the kernel at hand has.  Kbuild asks the
 * kernel's headers what is there and defines SMC_HAVE_x.  To drop an old
 * kernel, delete entries; there is no test of a version number anywhere.
 */
#ifndef SMC_COMPAT_H
#define SMC_COMPAT_H

/*
 * v6.19: bind() and connect() take struct sockaddr_unsized, a sockaddr whose
 * data has no fixed length; before, struct sockaddr.
 */
#ifndef SMC_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

/* v6.10: __assign_str() knows the source from __string(); before, it is told. */
#ifdef SMC_HAVE_ASSIGN_STR_1
#define SMC_ASSIGN_STR(dst, src) __assign_str(dst)
#else
#define SMC_ASSIGN_STR(dst, src) __assign_str(dst, src)
#endif

#endif /* SMC_COMPAT_H */
