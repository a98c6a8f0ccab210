// This file keeps a server running on Unix if its client stops reading.

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// catchBrokenPipes makes a write to a client that has stopped reading return an error. Otherwise a signal would end
// the process. The signal is caught and not ignored, so that programs that the process starts still receive it.
func catchBrokenPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
