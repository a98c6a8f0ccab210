// This file is for systems on which a closed terminal sends SIGTERM, or sends no signal.

//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// shutdownSignals returns the signals after which a run ends in an orderly way.
func shutdownSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
