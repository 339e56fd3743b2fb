/* Faults below Python: counts what a program does to files below one folder, and lets one of these steps fail.

   Loaded before all else (LD_PRELOAD), so that files which DuckDB, Arrow or SQLite write natively are seen, too.
   KEEPSENSE_FAULT_FOLDER names the folder; keepsense_arm(step, mode, log) starts counting again. Modes: 0 counts only,
   1 the step fails (no space left), 2 half of it is done and the next write fails, 3 the process is killed before the
   step, 4 the process is killed in the middle of it (half written) or right after it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int armed_step = -1, mode, step, failing, log_file = -1;

void keepsense_arm(int at, int how, int log) {
    armed_step = at;
    mode = how;
    log_file = log;
    step = failing = 0;
}

int keepsense_steps(void) { return step; }

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

static int of_descriptor(int fd, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = syscall(SYS_readlink, link, into, PATH_MAX - 1);
    if (size < 0) return 0;
    into[size] = 0;
    return 1;
}

static int below(const char *path) {
    const char *folder = getenv("KEEPSENSE_FAULT_FOLDER");
    if (!folder || armed_step < -1 || mode < 0) return 0;
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

static int watched(int directory, const char *path) {
    char whole[2 * PATH_MAX], base[PATH_MAX];
    if (log_file < 0 || !path) return 0;
    if (path[0] == '/') return below(path);
    if (directory == AT_FDCWD) {
        if (syscall(SYS_getcwd, base, sizeof base) < 0) return 0;
    } else if (!of_descriptor(directory, base)) return 0;
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return below(whole);
}

static int watched_descriptor(int fd) {
    char path[PATH_MAX];
    if (log_file < 0 || fd == log_file) return 0;
    return of_descriptor(fd, path) && below(path);
}

/* what to do at this step: 0 go on, 1 fail, 2 half of it, 4 die after it */
static int next_step(const char *name, const char *path) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%s %s\n", name, path ? path : "");
    syscall(SYS_write, log_file, line, size);
    if (step++ != armed_step) return 0;
    if (mode == 3) die();
    return mode;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define STEP(name, path, call) \
    do { \
        int what = next_step(name, path); \
        if (what == 1 || what == 2) { errno = ENOSPC; return -1; } \
        int done = (call); \
        if (what == 4) die(); \
        return done; \
    } while (0)

#define WRITES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))

#define OPEN(symbol) \
    int symbol(const char *path, int flags, ...) { \
        REAL(int, #symbol, const char *, int, ...); \
        va_list rest; va_start(rest, flags); mode_t rights = va_arg(rest, mode_t); va_end(rest); \
        if (!WRITES(flags) || !watched(AT_FDCWD, path)) return real(path, flags, rights); \
        STEP("open", path, real(path, flags, rights)); \
    }
#define OPENAT(symbol) \
    int symbol(int directory, const char *path, int flags, ...) { \
        REAL(int, #symbol, int, const char *, int, ...); \
        va_list rest; va_start(rest, flags); mode_t rights = va_arg(rest, mode_t); va_end(rest); \
        if (!WRITES(flags) || !watched(directory, path)) return real(directory, path, flags, rights); \
        STEP("open", path, real(directory, path, flags, rights)); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* a write: half of it at a short one, and nothing more afterwards */
#define WRITE(symbol, signature, call, half, size, ...) \
    ssize_t symbol signature { \
        REAL(ssize_t, #symbol, __VA_ARGS__); \
        if (!watched_descriptor(fd)) return call; \
        if (failing) { errno = ENOSPC; return -1; } \
        int what = next_step("write", 0); \
        if (what == 1) { errno = ENOSPC; return -1; } \
        if (what == 2 || what == 4) { \
            ssize_t done = half; \
            if (what == 4) die(); \
            failing = 1; \
            if (done == 0) { errno = ENOSPC; return -1; } \
            return done; \
        } \
        return call; \
    }
WRITE(write, (int fd, const void *data, size_t size), real(fd, data, size), real(fd, data, size / 2), size, int, const void *, size_t)
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), real(fd, data, size, at), real(fd, data, size / 2, at), size, int, const void *, size_t, off_t)
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t at), real(fd, data, size, at), real(fd, data, size / 2, at), size, int, const void *, size_t, off64_t)
WRITE(writev, (int fd, const struct iovec *parts, int count), real(fd, parts, count), real(fd, parts, count / 2), 0, int, const struct iovec *, int)

#define DESCRIPTOR(symbol, signature, call, ...) \
    int symbol signature { \
        REAL(int, #symbol, __VA_ARGS__); \
        if (!watched_descriptor(fd)) return call; \
        STEP(#symbol, 0, call); \
    }
DESCRIPTOR(fsync, (int fd), real(fd), int)
DESCRIPTOR(fdatasync, (int fd), real(fd), int)
DESCRIPTOR(ftruncate, (int fd, off_t size), real(fd, size), int, off_t)
DESCRIPTOR(ftruncate64, (int fd, off64_t size), real(fd, size), int, off64_t)
DESCRIPTOR(fchmod, (int fd, mode_t rights), real(fd, rights), int, mode_t)

#define PATH(symbol, signature, directory, path, call, ...) \
    int symbol signature { \
        REAL(int, #symbol, __VA_ARGS__); \
        if (!watched(directory, path)) return call; \
        STEP(#symbol, path, call); \
    }
PATH(rename, (const char *from, const char *to), AT_FDCWD, to, real(from, to), const char *, const char *)
PATH(renameat, (int a, const char *from, int b, const char *to), b, to, real(a, from, b, to), int, const char *, int, const char *)
PATH(renameat2, (int a, const char *from, int b, const char *to, unsigned how), b, to, real(a, from, b, to, how), int, const char *, int, const char *, unsigned)
PATH(link, (const char *from, const char *to), AT_FDCWD, to, real(from, to), const char *, const char *)
PATH(unlink, (const char *path), AT_FDCWD, path, real(path), const char *)
PATH(unlinkat, (int a, const char *path, int how), a, path, real(a, path, how), int, const char *, int)
PATH(rmdir, (const char *path), AT_FDCWD, path, real(path), const char *)
PATH(mkdir, (const char *path, mode_t rights), AT_FDCWD, path, real(path, rights), const char *, mode_t)
PATH(mkdirat, (int a, const char *path, mode_t rights), a, path, real(a, path, rights), int, const char *, mode_t)
PATH(chmod, (const char *path, mode_t rights), AT_FDCWD, path, real(path, rights), const char *, mode_t)
PATH(fchmodat, (int a, const char *path, mode_t rights, int how), a, path, real(a, path, rights, how), int, const char *, mode_t, int)
PATH(truncate, (const char *path, off_t size), AT_FDCWD, path, real(path, size), const char *, off_t)
