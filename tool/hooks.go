// The last failure of a hook: hooks are silent, doctor is not.

package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/session"
)

// HookFailure is what went wrong in a hook.
type HookFailure struct {
	Client string    `json:"client"`
	Error  string    `json:"error"`
	Time   time.Time `json:"time"`
}

// failureKept is how long doctor speaks of a failure.
const failureKept = 7 * 24 * time.Hour

func failureFile(home string) string {
	return filepath.Join(home, session.SpoolDir, "failure.json")
}

// Record keeps the failure, in the place of the last one, where doctor looks. It
// does nothing where nothing can be written.
func (f HookFailure) Record(home string) {
	if b, err := json.Marshal(f); err == nil {
		_ = os.WriteFile(failureFile(home), b, 0o600)
	}
}

// hooks looks for the last failure of a hook.
func (d *diagnosis) hooks() {
	b, err := os.ReadFile(failureFile(d.dir))
	var f HookFailure
	if err != nil || json.Unmarshal(b, &f) != nil || d.w.now().Sub(f.Time) > failureKept {
		return
	}
	d.add(warning, "hooks", "what the client has kept itself comes with oxbow session import", "a hook of %s could not keep what it was given at %s: %s", f.Client, d.w.date(f.Time), f.Error)
}
