// This file implements the verb "doctor", which looks for problems in a memory and in the file system, the clients and
// the hooks that belong to it. For each problem, "doctor" names a solution.

package maintenance

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// DoctorIn is the argument of DiagnoseMemory.
type DoctorIn struct {
	IsFullCheck bool `json:"full,omitempty" jsonschema:"examine the memory's file, byte by byte"`

	// Clients checks the configuration of the clients that agents use. This check may start the servers in the
	// configuration. If Clients is nil, the configuration is checked without starting servers.
	Clients *setup.Inspection `json:"-"`

	// CheckNames returns the result of the check for names that several entries have. If the memory's last change is
	// the same as in an earlier call, CheckNames may return the earlier result. With this function, a server checks the
	// names only after the memory has changed. If it is nil, the names are checked in each call.
	CheckNames cachedNamesCheckFunc `json:"-"`
}

// DoctorOut is the result of DiagnoseMemory.
type DoctorOut struct {
	OK                 bool      `json:"ok"`             // No problem was found. Warnings are possible.
	WasWholeMemoryRead bool      `json:"full,omitempty"` // The whole memory was read.
	Home               string    `json:"home"`
	Store              string    `json:"store"`
	Findings           []Finding `json:"findings"`
}

// Failed reports whether there is a problem.
func (o DoctorOut) Failed() bool { return !o.OK }

// DiagnoseMemory checks a memory and its surroundings, such as the file system, the clients and the hooks. It changes
// nothing. Each check adds a finding to the result. OK is false if one finding is a problem.
func DiagnoseMemory(ctx context.Context, w *verb.Workspace, in DoctorIn) (DoctorOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return DoctorOut{}, err
	}
	d := &diagnosis{workspace: w, memoryPlace: p, storeDir: p.Dir(), nameCheckCache: in.CheckNames}
	d.checkEnvironment()
	d.checkClients(ctx, in.Clients)
	trusted := d.checkHomeTrust()
	d.addOxbowVersionFinding()
	d.addLayoutFinding()
	d.checkFileSystem()
	d.checkPermissions()
	if p.HasOwnLayout() && !d.isDirForbidden { // Files of other layouts are not checked.
		d.checkLock()
		d.checkStaleFiles()
		d.checkHooks(ctx, in.IsFullCheck)
		d.checkHookSwitches()
	}
	if trusted && !d.isDirForbidden {
		if err := d.checkMemory(ctx, in.IsFullCheck); err != nil {
			return DoctorOut{}, err
		}
	}
	if err := d.checkAnnotations(ctx); err != nil {
		return DoctorOut{}, err
	}
	out := DoctorOut{
		OK:                 true,
		WasWholeMemoryRead: in.IsFullCheck,
		Home:               d.storeDir,
		Store:              p.StorePath,
		Findings:           d.findings,
	}
	for _, f := range d.findings {
		out.OK = out.OK && f.Level != findingLevelProblem
	}
	return out, nil
}
