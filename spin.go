// This file holds locks that are waited for awake.

package oxbow

import (
	"runtime"
	"sync"
)

// mostLooks is how often a lock that is held for microseconds is looked at
// before its caller goes to sleep: for about a tenth of a millisecond. To be
// woken takes about as long as a recall, and who sleeps for an exclusive lock
// keeps others from sharing it until it is awake.
const mostLooks = 500

func lockSoon(mu *sync.RWMutex) {
	for range mostLooks {
		if mu.TryLock() {
			return
		}
		runtime.Gosched()
	}
	mu.Lock()
}

func rlockSoon(mu *sync.RWMutex) {
	for range mostLooks {
		if mu.TryRLock() {
			return
		}
		runtime.Gosched()
	}
	mu.RLock()
}
