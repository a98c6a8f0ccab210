//go:build !unix

// This file contains a function stop that always fails, for systems on which a process cannot be suspended.

package cli

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
