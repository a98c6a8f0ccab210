//go:build !unix

// This file stands in where processes cannot be stopped.

package main

import (
	"errors"
	"os"
)

func stop(*os.Process) error { return errors.ErrUnsupported }
