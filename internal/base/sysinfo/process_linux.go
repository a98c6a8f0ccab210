// This file reads from /proc whether a process is stopped.

package sysinfo

import (
	"bytes"
	"fmt"
	"os"
)

// isSuspended reports whether the process is in the state T or t, which means suspended. In /proc/PID/stat, the state
// is the field after the last parenthesis.
func isSuspended(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(b, ')')
	return i >= 0 && i+2 < len(b) && (b[i+2] == 'T' || b[i+2] == 't')
}
