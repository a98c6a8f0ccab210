//go:build !unix

// The fallback where processes cannot be stopped.

package cli

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
