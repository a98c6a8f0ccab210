// This file keeps a server running on Unix if its client stops reading.

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// catchBrokenPipes changes what happens if this process writes to a client that no longer reads. The write returns an
// error. Without catchBrokenPipes, the signal SIGPIPE would end the process. The signal is caught and not ignored, so
// that programs that the process starts still receive it.
func catchBrokenPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
