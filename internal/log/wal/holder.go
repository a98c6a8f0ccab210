// Holders: which process has the lock.

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

// Holder describes the process that holds the lock, as it wrote itself. It is
// for messages: nothing is decided by it.
type Holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
	Stopped bool      `json:"-"` // the process is stopped
}

// me is the beginning of the metadata, constant in a process, up to the time.
var me = sync.OnceValue(func() string {
	name, err := json.Marshal(program())
	if err != nil {
		name = []byte(`"unknown"`)
	}
	return fmt.Sprintf(`{"pid":%d,"program":%s,"since":"`, os.Getpid(), name)
})

// program returns the name of this program and its subcommand.
func program() string {
	if len(os.Args) == 0 {
		return "unknown"
	}
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") && len(os.Args[1]) < 16 {
		name += " " + os.Args[1]
	}
	return name[:min(len(name), 48)]
}
