// This file describes the process that holds the lock.

package wal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// LockHolder describes the process that holds the lock. It is used only in messages and never for decisions, because
// the process itself wrote the description.
type LockHolder struct {
	PID         int       `json:"pid"`
	Program     string    `json:"program"`
	Since       time.Time `json:"since"`
	IsSuspended bool      `json:"-"` // the process is suspended
}

// lockFilePrefix returns the part of the lock file's text that never changes during the life of a process. It contains
// the process ID and the program's name, and ends before the time.
var lockFilePrefix = sync.OnceValue(func() string {
	name, err := json.Marshal(programName())
	if err != nil {
		name = []byte(`"unknown"`)
	}
	return fmt.Sprintf(`{"pid":%d,"program":%s,"since":"`, os.Getpid(), name)
})

// programName returns the name of this program and its subcommand.
func programName() string {
	if len(os.Args) == 0 {
		return "unknown"
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if len(os.Args) > 1 && mayBeSubcommand(os.Args[1]) {
		name += " " + os.Args[1]
	}
	return name[:min(len(name), 48)]
}

// mayBeSubcommand reports whether a command-line argument is short and not a flag.
func mayBeSubcommand(arg string) bool {
	return !strings.HasPrefix(arg, "-") && len(arg) < 16
}
