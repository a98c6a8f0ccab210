//go:build !unix

// This file stands in where processes cannot be stopped.

package command

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
