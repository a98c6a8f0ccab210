// This file retries operations that failed because another program has the file open. Programs such as virus scanners
// and indexers open each new file for a moment. During this time, the file cannot be renamed or removed.

package vfs

import (
	"errors"
	"time"

	"golang.org/x/sys/windows"
)

// maxBusyRetryTime is the maximum time for which a rename or removal is retried.
const maxBusyRetryTime = 2 * time.Second

// retryWhileBusy calls fn and retries as long as fn fails because another program has the file open. It returns the
// result of the last call if fn succeeds or fails for another reason, or if maxBusyRetryTime is over. It also retries
// after ERROR_ACCESS_DENIED, which Windows returns for a file that cannot be replaced at the moment.
func retryWhileBusy(fn func() error) error {
	wait := time.Millisecond
	for start := time.Now(); ; wait *= 2 {
		err := fn()
		if !isBusy(err) || time.Since(start)+wait > maxBusyRetryTime {
			return err
		}
		time.Sleep(wait)
	}
}

// isBusy reports whether the error err may mean that another program has the file open at the moment.
func isBusy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
