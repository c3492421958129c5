/* The registers of a process, as long as the machine's kernel wants them.
 *
 * User Mode Linux 6.1 keeps 2696 octets of a process's registers (XSAVE): those of AVX-512 and
 * all before. Linux takes a register set at its full length only, and with the tiles of AMX that
 * is 11,008. So each is refused (EFAULT), and the kernel in the process gives up. This stands
 * before libc's ptrace and fills up with zeros. Nobody in there has tiles: a process has to ask
 * Linux for them, and the kernel in the process does not pass that on. scripts/uml.sh builds it
 * where a processor has AMX.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* A kernel of one processor runs in one thread. Its stacks have no room for these. */
static unsigned char full[1 << 16];
static size_t full_len;

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, pid_t, void *, void *);
	if (!next)
		next = (long (*)(enum __ptrace_request, pid_t, void *, void *))dlsym(RTLD_NEXT, "ptrace");

	va_list args;
	va_start(args, request);
	pid_t pid = va_arg(args, pid_t);
	void *addr = va_arg(args, void *);
	void *data = va_arg(args, void *);
	va_end(args);
	if (request != PTRACE_SETREGSET || (uintptr_t)addr != NT_X86_XSTATE)
		return next(request, pid, addr, data);

	struct iovec *given = data, whole = {full, sizeof full};
	if (!full_len) {
		long err = next(PTRACE_GETREGSET, pid, addr, &whole);
		if (err)
			return err;
		full_len = whole.iov_len;
	}
	if (given->iov_len >= full_len)
		return next(request, pid, addr, data);
	memset(full, 0, full_len);
	memcpy(full, given->iov_base, given->iov_len);
	whole.iov_len = full_len;
	return next(request, pid, addr, &whole);
}
