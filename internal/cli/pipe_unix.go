// This file keeps a server running on Unix when its client stops reading.

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// catchBrokenPipes makes writes to a client that has stopped reading fail, so that no
// signal ends the process. Programs that the process starts get the signal as usual,
// which they would not if it were ignored.
func catchBrokenPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
