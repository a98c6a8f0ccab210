// Doctor: what may be wrong with a memory and what is around it, and how to mend
// it.

package tool

import (
	"context"
	"fmt"
	"strings"
)

// The levels of a finding.
const (
	fine    = "ok"
	unknown = "unknown" // could not be looked at here
	warning = "warning" // works, and may fail one day
	problem = "problem" // does not work, or loses what is remembered
)

// Finding is one thing that doctor looked at.
type Finding struct {
	About string `json:"about"`
	Level string `json:"level"` // ok, unknown, warning or problem
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// DoctorIn is what doctor takes.
type DoctorIn struct {
	Full bool `json:"full,omitempty" jsonschema:"examine the memory's file, byte by byte"`
}

// DoctorOut is what doctor found.
type DoctorOut struct {
	OK       bool      `json:"ok"` // no problem; there may be warnings
	Home     string    `json:"home"`
	Store    string    `json:"store"`
	Findings []Finding `json:"findings"`
}

// Failed reports whether there is a problem.
func (o DoctorOut) Failed() bool { return !o.OK }

// diagnosis is one run of doctor.
type diagnosis struct {
	w        *Workspace
	place    Place
	dir      string // the directory that holds the store
	exists   bool   // there is a file of that name
	findings []Finding
}

// Doctor looks for what may be wrong. It changes nothing.
func Doctor(ctx context.Context, w *Workspace, in DoctorIn) (DoctorOut, error) {
	p, err := w.place()
	if err != nil {
		return DoctorOut{}, err
	}
	d := &diagnosis{w: w, place: p, dir: p.Dir()}
	d.environment()
	d.version()
	d.layout()
	d.fileSystem()
	d.permissions()
	if p.Own() { // what others keep next to their files is theirs
		d.lock()
		d.staleFiles()
	}
	if err := d.memory(ctx, in.Full); err != nil {
		return DoctorOut{}, err
	}
	if err := d.annotations(ctx); err != nil {
		return DoctorOut{}, err
	}
	out := DoctorOut{OK: true, Home: d.dir, Store: p.Store, Findings: d.findings}
	for _, f := range d.findings {
		out.OK = out.OK && f.Level != problem
	}
	return out, nil
}

func (d *diagnosis) add(level, about, mend, format string, args ...any) {
	d.findings = append(d.findings, Finding{about, level, fmt.Sprintf(format, args...), mend})
}

// findError makes a problem of an error, with its remedy.
func (d *diagnosis) findError(about string, err error) {
	d.add(problem, about, d.w.say(Remedy(err)), "%s", strings.TrimSuffix(err.Error(), "."))
}
