//go:build !unix

// This file is the fallback for systems on which processes cannot be suspended.

package cli

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
