# SPDX-License-Identifier: GPL-2.0
#
# talk.pl - a server and its client.  Says how many bytes the server got, and
# what smcss shows by then.
use strict;
use IO::Socket::INET;

my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1:7000') or die;
if (!fork) {
	my $c = IO::Socket::INET->new('127.0.0.1:7000') or die;
	print $c 'x' x 1000000;
	shutdown $c, 1;
	<$c>;
	exit 0;
}
my $s = $l->accept or die;
my ($n, $b) = 0;
$n += length $b while read $s, $b, 65536;
print "$n bytes\n";
system 'smcss';
close $s;
wait;
