// Go programs call ProcessPrng of bcryptprimitives.dll for random bytes. Wine 8 lacks this library. The
// command wine builds one from this file, which passes the call to the function that Wine has.

#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size) {
	return SystemFunction036(data, (ULONG)size);
}
