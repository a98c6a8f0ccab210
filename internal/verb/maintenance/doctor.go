// Doctor: what may be wrong with a memory and what is around it, and how to mend
// it.

package maintenance

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// DoctorIn is what doctor takes.
type DoctorIn struct {
	Full bool `json:"full,omitempty" jsonschema:"examine the memory's file, byte by byte"`

	// Clients finds out how agents' clients are set up. If it is nil, less is found out.
	Clients *setup.Inspection `json:"-"`
}

// DoctorOut is what doctor found.
type DoctorOut struct {
	OK       bool      `json:"ok"`             // no problem; there may be warnings
	Full     bool      `json:"full,omitempty"` // every byte of the memory was read
	Home     string    `json:"home"`
	Store    string    `json:"store"`
	Findings []Finding `json:"findings"`
}

// Failed reports whether there is a problem.
func (o DoctorOut) Failed() bool { return !o.OK }

// Doctor looks for what may be wrong. It changes nothing.
func Doctor(ctx context.Context, w *verb.Workspace, in DoctorIn) (DoctorOut, error) {
	p, err := w.Located()
	if err != nil {
		return DoctorOut{}, err
	}
	d := &diagnosis{w: w, place: p, dir: p.Dir()}
	d.environment()
	d.clients(ctx, in.Clients)
	trusted := d.trust()
	d.version()
	d.layout()
	d.fileSystem()
	d.permissions()
	if p.Own() && !d.closed { // what others keep next to their files is theirs
		d.lock()
		d.staleFiles()
		d.hooks(ctx)
		d.switches()
	}
	if trusted && !d.closed {
		if err := d.memory(ctx, in.Full); err != nil {
			return DoctorOut{}, err
		}
	}
	if err := d.annotations(ctx); err != nil {
		return DoctorOut{}, err
	}
	out := DoctorOut{OK: true, Full: in.Full, Home: d.dir, Store: p.Store, Findings: d.findings}
	for _, f := range d.findings {
		out.OK = out.OK && f.Level != problem
	}
	return out, nil
}
