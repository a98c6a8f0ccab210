//go:build !linux

// This file runs oxbow as the user who runs the tests. That user must not be the superuser.

package cli

import (
	"fmt"
	"os"
)

func unprivileged() {
	if os.Geteuid() == 0 {
		fmt.Fprintln(os.Stderr, "unprivileged: permissions do not stop the superuser; run the tests as another user")
		os.Exit(3)
	}
	os.Args = os.Args[1:]
	os.Exit(patientMain())
}
