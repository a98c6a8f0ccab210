// Retries on sharing violations: programs that read each new file, such as virus
// scanners and indexers, open it for a moment so that it cannot be renamed or
// removed.

package vfs

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// busyWait bounds how long a rename or removal is tried.
const busyWait = 2 * time.Second

// untilFree calls fn until it succeeds, fails for another reason, or the time is
// over. To be denied access is also what is said of a file that cannot be
// replaced just now.
func untilFree(fn func() error) error {
	wait := time.Millisecond
	for start := time.Now(); ; wait *= 2 {
		err := fn()
		if (!errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED)) ||
			time.Since(start)+wait > busyWait {
			return err
		}
		time.Sleep(wait)
	}
}
