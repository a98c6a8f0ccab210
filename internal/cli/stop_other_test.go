//go:build !unix

// The fallback where processes cannot be stopped.

package command

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
