// SPDX-License-Identifier: GPL-2.0
/*
 * The bodies of the trace events declared in trace.h.
 *
 * Nothing else: the macro below makes <trace/define_trace.h> expand the header
 * into code instead of declarations.  Test: selftests/vm/tests.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
