// A stand-in for the CUDA driver: one device whose memory is the host's and whose streams are queues that a worker thread
// empties a little later. It runs no kernels but a copy. It exists so that stream order, memory reuse, read-backs and error paths can be
// tested, and `cust` can be built, on a machine without a GPU.
//
// Every access is checked against the live allocations when it runs, so that memory which is freed too early shows as
// CUDA_ERROR_ILLEGAL_ADDRESS, as on a device.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int R;
typedef unsigned long long Ptr;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_PTX = 218,
       INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, NOT_SUPPORTED = 801 };

#define MEMORY (256u << 20)
#define PARAMS 272

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread void *current;
static int context_object, pool_object;
static int sticky;
static int started;

// What a steady state does without.
static unsigned long allocations, waits;
unsigned long isowarp_stub_allocations(void) { return __atomic_load_n(&allocations, __ATOMIC_SEQ_CST); }
unsigned long isowarp_stub_waits(void) { return __atomic_load_n(&waits, __ATOMIC_SEQ_CST); }
static void count(unsigned long *what) { __atomic_fetch_add(what, 1, __ATOMIC_SEQ_CST); }

// Memory.
typedef struct Block { struct Block *next; char *at; size_t size; } Block;
static Block *blocks;
static size_t used;

static int live(const char *at, size_t size) {
    for (Block *b = blocks; b; b = b->next)
        if (at >= b->at && size <= b->size && (size_t)(at - b->at) <= b->size - size) return 1;
    return 0;
}
static R allocate(Ptr *out, size_t size) {
    count(&allocations);
    if (!size) return INVALID_VALUE;
    if (size > MEMORY - used) return OUT_OF_MEMORY;
    Block *b = malloc(sizeof *b);
    *b = (Block){blocks, aligned_alloc(512, (size + 511) / 512 * 512), size};
    memset(b->at, 0xA5, size);
    blocks = b;
    used += size;
    *out = (Ptr)(uintptr_t)b->at;
    return OK;
}
static R release(Ptr at) {
    for (Block **b = &blocks; *b; b = &(*b)->next)
        if ((*b)->at == (char *)(uintptr_t)at) {
            Block *gone = *b;
            *b = gone->next;
            used -= gone->size;
            free(gone->at);
            free(gone);
            return OK;
        }
    return INVALID_VALUE;
}

// Streams, events and the work between them.
typedef struct { unsigned long recorded, done; double time; int alive; } Event;
typedef struct Op {
    struct Op *next;
    enum { COPY, SET, RECORD, WAIT, CALL, FREE, RUN } kind;
    char *to, *from;
    size_t size, unit;
    uint32_t value;
    int to_device, from_device;
    Event *event;
    unsigned long generation;
    void (*callback)(void *, R, void *);
    void *data;
    char params[PARAMS];
} Op;
typedef struct Stream { struct Stream *next; Op *first, *last; int destroyed; } Stream;
static Stream legacy, *streams = &legacy;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
static void fault_unless(int ok) { if (!ok) sticky = ILLEGAL_ADDRESS; }

// The fake of the kernel `copy_bytes`: copies n bytes from the first input to the first output of the argument block.
static void run_kernel(const char *params) {
    Ptr in, out, n;
    memcpy(&in, params, 8);
    memcpy(&out, params + 128, 8);
    memcpy(&n, params + 160, 8);
    if (!n) return;
    fault_unless(live((char *)(uintptr_t)in, n) && live((char *)(uintptr_t)out, n));
    if (!sticky) memmove((char *)(uintptr_t)out, (char *)(uintptr_t)in, n);
}
// Runs one operation; the lock is held.
static void perform(Stream *s, Op *op) {
    switch (op->kind) {
    case COPY:
        fault_unless((!op->to_device || live(op->to, op->size)) && (!op->from_device || live(op->from, op->size)));
        if (!sticky) memcpy(op->to, op->from, op->size);
        break;
    case SET:
        fault_unless(live(op->to, op->size * op->unit));
        if (!sticky) for (size_t i = 0; i < op->size; i++) memcpy(op->to + i * op->unit, &op->value, op->unit);
        break;
    case RECORD: op->event->done = op->generation; op->event->time = now(); break;
    case FREE: fault_unless(release((Ptr)(uintptr_t)op->to) == OK); break;
    case RUN: if (op->data) run_kernel(op->params); break;
    case CALL: {
        R status = sticky;
        pthread_mutex_unlock(&lock);
        op->callback(s, status, op->data);
        pthread_mutex_lock(&lock);
        break;
    }
    case WAIT: break;
    }
}
static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        int moved = 0;
        for (Stream *s = streams; s; s = s->next) {
            Op *op = s->first;
            if (!op || (op->kind == WAIT && op->event->done < op->generation)) continue;
            // Late on purpose: whoever does not wait sees the state from before.
            pthread_mutex_unlock(&lock);
            nanosleep(&(struct timespec){0, 50000}, NULL);
            pthread_mutex_lock(&lock);
            perform(s, op);
            s->first = op->next;
            if (!s->first) s->last = NULL;
            free(op);
            moved = 1;
            pthread_cond_broadcast(&changed);
        }
        if (!moved) pthread_cond_wait(&changed, &lock);
    }
    return NULL;
}
static R enqueue(Stream *s, Op op) {
    if (!s) s = &legacy;
    if (s->destroyed) return INVALID_HANDLE;
    Op *kept = malloc(sizeof op);
    *kept = op;
    kept->next = NULL;
    pthread_mutex_lock(&lock);
    if (kept->kind == RECORD) kept->generation = ++kept->event->recorded;
    if (kept->kind == WAIT) kept->generation = kept->event->recorded;
    if (s->last) s->last->next = kept; else s->first = kept;
    s->last = kept;
    R status = sticky;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return status;
}
static R drain(Stream *s) {
    count(&waits);
    pthread_mutex_lock(&lock);
    while (s->first) pthread_cond_wait(&changed, &lock);
    R status = sticky;
    pthread_mutex_unlock(&lock);
    return status;
}
static R drain_all(void) {
    count(&waits);
    pthread_mutex_lock(&lock);
    for (Stream *s = streams; s;) {
        if (s->first) { pthread_cond_wait(&changed, &lock); s = streams; } else s = s->next;
    }
    R status = sticky;
    pthread_mutex_unlock(&lock);
    return status;
}
#define HERE if (!current) return INVALID_CONTEXT
#define LOCKED(call) do { pthread_mutex_lock(&lock); R r_ = (call); pthread_mutex_unlock(&lock); return r_; } while (0)
#define AT(p) ((char *)(uintptr_t)(p))

// Start, devices, contexts.
R cuInit(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    pthread_t thread;
    if (!started) started = pthread_create(&thread, NULL, work, NULL) == 0;
    pthread_mutex_unlock(&lock);
    return OK;
}
R cuDriverGetVersion(int *v) { *v = 12080; return OK; }
R cuGetErrorString(R e, const char **s) { (void)e; *s = "an error of the stub"; return OK; }
R cuGetErrorName(R e, const char **s) { (void)e; *s = "CUDA_ERROR_OF_THE_STUB"; return OK; }
R cuDeviceGetCount(int *n) { *n = 1; return OK; }
R cuDeviceGet(int *d, int i) { if (i) return INVALID_DEVICE; *d = 0; return OK; }
R cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, n, "isowarp stub (no GPU)"); return OK; }
R cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = MEMORY; return OK; }
R cuDeviceGetUuid(char *u, int d) { (void)d; memset(u, 7, 16); return OK; }
R cuDeviceGetUuid_v2(char *u, int d) { return cuDeviceGetUuid(u, d); }
R cuDeviceGetAttribute(int *v, int a, int d) {
    (void)d;
    switch (a) {
    case 1: *v = 1024; break;          // threads per block
    case 8: *v = 49152; break;         // shared memory per block
    case 10: *v = 32; break;           // warp
    case 16: *v = 132; break;          // multiprocessors
    case 38: *v = 50 << 20; break;     // L2
    case 75: *v = 9; break;            // compute capability
    case 76: *v = 0; break;
    case 97: *v = 232448; break;       // shared memory per block, opting in
    case 115: *v = !getenv("ISOWARP_STUB_NO_POOLS"); break;
    default: *v = 0;
    }
    return OK;
}
R cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; *c = &context_object; return OK; }
R cuDevicePrimaryCtxRelease_v2(int d) { (void)d; return OK; }
R cuDevicePrimaryCtxRelease(int d) { (void)d; return OK; }
R cuDevicePrimaryCtxSetFlags_v2(int d, unsigned f) { (void)d; (void)f; return OK; }
R cuDevicePrimaryCtxSetFlags(int d, unsigned f) { (void)d; (void)f; return OK; }
R cuCtxGetCurrent(void **c) { *c = current; return OK; }
R cuCtxSetCurrent(void *c) { current = c; return OK; }
R cuCtxGetDevice(int *d) { HERE; *d = 0; return OK; }
R cuCtxSynchronize(void) { HERE; return drain_all(); }

// Streams and events.
R cuStreamCreate(Stream **s, unsigned flags) {
    (void)flags;
    HERE;
    *s = calloc(1, sizeof **s);
    pthread_mutex_lock(&lock);
    (*s)->next = streams->next;
    streams->next = *s;
    pthread_mutex_unlock(&lock);
    return OK;
}
R cuStreamCreateWithPriority(Stream **s, unsigned flags, int priority) { (void)priority; return cuStreamCreate(s, flags); }
R cuStreamDestroy_v2(Stream *s) {
    drain(s);
    pthread_mutex_lock(&lock);
    for (Stream *p = streams; p; p = p->next) if (p->next == s) p->next = s->next;
    // Not freed: the worker may stand on it, and a late use is to be noticed.
    s->destroyed = 1;
    pthread_mutex_unlock(&lock);
    return OK;
}
R cuStreamSynchronize(Stream *s) { HERE; return drain(s ? s : &legacy); }
R cuStreamWaitEvent(Stream *s, Event *e, unsigned f) { (void)f; HERE; return enqueue(s, (Op){.kind = WAIT, .event = e}); }
R cuStreamAddCallback(Stream *s, void (*f)(void *, R, void *), void *data, unsigned flags) {
    (void)flags;
    HERE;
    enqueue(s, (Op){.kind = CALL, .callback = f, .data = data});
    return OK;
}
R cuEventCreate(Event **e, unsigned f) { (void)f; HERE; *e = calloc(1, sizeof **e); (*e)->alive = 1; return OK; }
R cuEventDestroy_v2(Event *e) { if (!e->alive) return INVALID_HANDLE; e->alive = 0; return OK; }
R cuEventRecord(Event *e, Stream *s) { HERE; return e->alive ? enqueue(s, (Op){.kind = RECORD, .event = e}) : INVALID_HANDLE; }
R cuEventQuery(Event *e) { HERE; LOCKED(sticky ? sticky : e->done < e->recorded ? NOT_READY : OK); }
R cuEventSynchronize(Event *e) {
    HERE;
    count(&waits);
    pthread_mutex_lock(&lock);
    while (e->done < e->recorded) pthread_cond_wait(&changed, &lock);
    R status = sticky;
    pthread_mutex_unlock(&lock);
    return status;
}
R cuEventElapsedTime(float *ms, Event *a, Event *b) { *ms = (float)(b->time - a->time); return OK; }

// Memory and copies.
R cuMemGetInfo_v2(size_t *available, size_t *total) { *available = MEMORY - used; *total = MEMORY; return OK; }
R cuMemAlloc_v2(Ptr *p, size_t n) { HERE; LOCKED(allocate(p, n)); }
R cuMemFree_v2(Ptr p) { HERE; drain_all(); LOCKED(release(p)); }
R cuMemPoolCreate(void **p, const void *props) { (void)props; *p = &pool_object; return OK; }
R cuMemPoolSetAttribute(void *p, int a, void *v) { (void)p; (void)a; (void)v; return OK; }
R cuMemPoolGetAttribute(void *p, int a, void *v) { (void)p; (void)a; *(unsigned long long *)v = 0; return OK; }
R cuMemPoolTrimTo(void *p, size_t n) { (void)p; (void)n; return OK; }
R cuMemPoolDestroy(void *p) { (void)p; return OK; }
R cuMemAllocFromPoolAsync(Ptr *p, size_t n, void *pool, Stream *s) { (void)pool; (void)s; return cuMemAlloc_v2(p, n); }
R cuMemAllocAsync(Ptr *p, size_t n, Stream *s) { (void)s; return cuMemAlloc_v2(p, n); }
R cuMemFreeAsync(Ptr p, Stream *s) { HERE; return enqueue(s, (Op){.kind = FREE, .to = AT(p)}); }
R cuMemHostAlloc(void **p, size_t n, unsigned f) { (void)f; HERE; count(&allocations); *p = malloc(n); return *p ? OK : OUT_OF_MEMORY; }
R cuMemFreeHost(void *p) { HERE; free(p); return OK; }
static R copy(Stream *s, char *to, int to_device, const void *from, int from_device, size_t n) {
    HERE;
    return enqueue(s, (Op){.kind = COPY, .to = to, .from = (char *)from, .size = n, .to_device = to_device, .from_device = from_device});
}
R cuMemcpyHtoDAsync_v2(Ptr to, const void *from, size_t n, Stream *s) { return copy(s, AT(to), 1, from, 0, n); }
R cuMemcpyDtoHAsync_v2(void *to, Ptr from, size_t n, Stream *s) { return copy(s, to, 0, AT(from), 1, n); }
R cuMemcpyDtoDAsync_v2(Ptr to, Ptr from, size_t n, Stream *s) { return copy(s, AT(to), 1, AT(from), 1, n); }
R cuMemcpyHtoD_v2(Ptr to, const void *from, size_t n) { R r = copy(&legacy, AT(to), 1, from, 0, n); return r ? r : drain(&legacy); }
R cuMemcpyDtoH_v2(void *to, Ptr from, size_t n) { R r = copy(&legacy, to, 0, AT(from), 1, n); return r ? r : drain(&legacy); }
static R set(Stream *s, Ptr to, uint32_t value, size_t unit, size_t n) {
    HERE;
    return enqueue(s, (Op){.kind = SET, .to = AT(to), .value = value, .unit = unit, .size = n});
}
R cuMemsetD8Async(Ptr to, unsigned char v, size_t n, Stream *s) { return set(s, to, v, 1, n); }
R cuMemsetD16Async(Ptr to, unsigned short v, size_t n, Stream *s) { return to % 2 ? INVALID_VALUE : set(s, to, v, 2, n); }
R cuMemsetD32Async(Ptr to, unsigned v, size_t n, Stream *s) { return to % 4 ? INVALID_VALUE : set(s, to, v, 4, n); }

// Libraries: a text with the right entry loads; a text that says so does not.
R cuLibraryLoadData(void **l, const char *text, int *options, void **values, unsigned count, void *more, void **of_more, unsigned n) {
    (void)more; (void)of_more; (void)n;
    HERE;
    if (strstr(text, ".version") && !strstr(text, "refuse this")) { *l = strdup(text); return OK; }
    for (unsigned i = 0; i < count; i++)
        if (options[i] == 5) strcpy(values[i], "ptxas error: refused as asked");
    return INVALID_PTX;
}
R cuLibraryGetKernel(void **k, void *l, const char *name) {
    char entry[256];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    *k = strstr(l, entry);
    return *k ? OK : NOT_FOUND;
}
R cuKernelGetFunction(void **f, void *k) { *f = k; return OK; }
R cuLibraryUnload(void *l) { drain_all(); free(l); return OK; }
R cuFuncGetAttribute(int *v, int a, void *f) {
    (void)f;
    *v = a == 0 ? 1024 : a == 1 ? 128 : a == 4 ? 32 : 0;
    return OK;
}
R cuFuncSetAttribute(void *f, int a, int v) { (void)f; (void)a; return v <= 232448 - 128 ? OK : INVALID_VALUE; }
R cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads, size_t shared) {
    (void)f; (void)shared;
    *n = 2048 / threads;
    return OK;
}
R cuLaunchKernel(void *f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz, unsigned shared,
                 Stream *s, void **params, void **extra) {
    (void)shared; (void)extra;
    HERE;
    if (!bx || !by || !bz || tx * ty * tz > 1024) return INVALID_VALUE;
    // The probe's first argument block names the right results as its input: a copy of them is what it would compute.
    int copies = !strncmp(f, ".entry copy_bytes(", 18) || !strncmp(f, ".entry isowarp_probe(", 21);
    Op op = {.kind = RUN, .data = copies ? f : NULL};
    memcpy(op.params, params[0], PARAMS);
    return enqueue(s, op);
}
typedef struct { unsigned bx, by, bz, tx, ty, tz, shared; Stream *stream; void *attrs; unsigned count; } Config;
R cuLaunchKernelEx(const Config *c, void *f, void **params, void **extra) {
    return cuLaunchKernel(f, c->bx, c->by, c->bz, c->tx, c->ty, c->tz, c->shared, c->stream, params, extra);
}

// What `cust` links against and nothing here needs.
#define ABSENT(name) R name(void) { return NOT_SUPPORTED; }
#include "absent.h"
