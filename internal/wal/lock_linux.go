// Looks at the process that holds the lock, where that is cheap.

package wal

import (
	"bytes"
	"fmt"
	"os"
)

// processStopped reports whether the process is stopped by a signal or a
// debugger: state T or t, the field after the last parenthesis of
// /proc/PID/stat.
func processStopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(b, ')')
	return i >= 0 && i+2 < len(b) && (b[i+2] == 'T' || b[i+2] == 't')
}
