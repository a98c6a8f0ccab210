// This file opens terminals for tests.

package testenv

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// OpenTerminal opens a pseudo-terminal and returns both ends: the person's and the program's.
// The test must close the program's end.
func OpenTerminal(t *testing.T) (personEnd, programEnd *os.File) {
	t.Helper()
	personEnd, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { personEnd.Close() })
	if err := unix.IoctlSetPointerInt(int(personEnd.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(personEnd.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	programEnd, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return personEnd, programEnd
}
