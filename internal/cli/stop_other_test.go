//go:build !unix

// This file is for systems on which a process cannot be suspended.

package cli

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
