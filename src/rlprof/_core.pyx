# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, initializedcheck=False
"""The span recorder: the one compiled module of rlprof, in parts that are read in this order.

All state is in C structures guarded by the interpreter lock: every function here runs to its end without giving it
up, so the writer thread, the sampler thread and the program's own threads never see a half-made change.

Time is booked by a sweep: each thread remembers when it last booked, and whenever a span opens, closes, or the writer
drains, the time since then goes to the span that was innermost. Self times of a thread therefore add up to its
recorded time exactly, in whatever order spans are closed.

A span is opened on a stack. A thread has one stack for ordinary code and one for each asyncio task that has spans open,
told apart by the context object the interpreter runs the task in.
"""

cimport cython
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF, Py_XINCREF
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

include "core/platform.pxi"
include "core/state.pxi"
include "core/labels.pxi"
include "core/paths.pxi"
include "core/threads.pxi"
include "core/spans.pxi"
include "core/counters.pxi"
include "core/iterations.pxi"
include "core/callers.pxi"
include "core/stacks.pxi"
include "core/control.pxi"
include "core/handover.pxi"
include "core/totals.pxi"
include "core/noting.pxi"
include "core/waking.pxi"
include "core/beat.pxi"
include "core/stages.pxi"
include "core/loop.pxi"
include "core/steps.pxi"
include "core/thinning.pxi"
include "core/looks.pxi"
include "core/calls.pxi"
include "core/places.pxi"
include "core/stores.pxi"
include "core/forwards.pxi"
