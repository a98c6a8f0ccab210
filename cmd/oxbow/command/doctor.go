// This file holds "oxbow doctor": what may be wrong with a memory, and how to
// mend it. What it looks at is in doctor_look.go.

package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The levels of a finding.
const (
	fine    = "ok"
	unknown = "unknown" // could not be looked at here
	warning = "warning" // works, and may fail one day
	problem = "problem" // does not work, or loses what is remembered
)

// finding is one thing that doctor looked at.
type finding struct {
	About string `json:"about"`
	Level string `json:"level"`
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// doctorOut is what doctor found, as JSON.
type doctorOut struct {
	OK       bool      `json:"ok"` // no problem; there may be warnings
	Home     string    `json:"home"`
	Store    string    `json:"store"`
	Findings []finding `json:"findings"`
}

// diagnosis is one run of doctor.
type diagnosis struct {
	a        *app
	store    string // path of the store: a file, or the directory of one of several files
	own      bool   // it is laid out as oxbow lays it out
	dir      string // the directory that holds it
	exists   bool   // there is a file of that name
	held     bool   // somebody has the lock
	findings []finding
}

func (a *app) doctorCommand() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what may be wrong, and say how to mend it",
		Long: `Doctor looks at the memory and what is around it: how the home was found, the
kind of file system, space, permissions, who holds the lock, the clock, the
version, files left over, and whether the memory opens and is the newest. It
changes nothing. The exit status is 1 when there is a problem; warnings alone
are none.`,
		Example: `  oxbow doctor
  oxbow doctor --full              also reads every byte, as oxbow check does
  oxbow doctor --json`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), full) },
	}
	c.Flags().BoolVar(&full, "full", false, "examine the memory's file, byte by byte")
	return c
}

func (a *app) doctor(ctx context.Context, full bool) error {
	store, own, err := a.storePlace()
	if err != nil {
		return err
	}
	d := &diagnosis{a: a, store: store, own: own, dir: filepath.Dir(store)}
	if !own {
		if d.dir, err = a.home(); err != nil {
			return err
		}
	}
	d.environment()
	d.version()
	if err := d.layout(); err != nil {
		return err
	}
	d.fileSystem()
	d.permissions()
	if own { // what others keep beside their files is theirs
		d.lock()
		if err := d.leftovers(); err != nil {
			return err
		}
	}
	if err := d.memory(ctx, full); err != nil {
		return err
	}
	if err := d.annotations(ctx); err != nil {
		return err
	}
	return d.tell()
}

func (d *diagnosis) add(level, about, mend, format string, args ...any) {
	d.findings = append(d.findings, finding{about, level, fmt.Sprintf(format, args...), mend})
}

// tell prints the findings, each on one line.
func (d *diagnosis) tell() error {
	a, counts := d.a, map[string]int{}
	for _, f := range d.findings {
		counts[f.Level]++
	}
	ok := counts[problem] == 0
	if a.json {
		if err := a.printJSON(doctorOut{ok, d.dir, d.store, d.findings}); err != nil {
			return err
		}
	} else {
		for _, f := range d.findings {
			if a.quiet && (f.Level == fine || f.Level == unknown) {
				continue
			}
			level := pad(f.Level, 7)
			if f.Level == problem || f.Level == warning {
				level = a.bold(level)
			} else {
				level = a.dim(level)
			}
			line := f.What
			if f.Mend != "" {
				line += "; mend: " + f.Mend
			}
			a.printf("%s  %s  %s\n", level, pad(f.About, 11), oneLine(line))
		}
		if !a.quiet {
			a.printf("%s\n", summary(counts[problem], counts[warning]))
		}
	}
	if !ok {
		return errTold
	}
	return nil
}

// oneLine makes a text safe to show, and one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

func summary(problems, warnings int) string {
	p, w := count(problems, "problem", "problems"), count(warnings, "warning", "warnings")
	switch {
	case problems > 0 && warnings > 0:
		return p + ", " + w
	case problems > 0:
		return p
	case warnings > 0:
		return "it works, with " + w
	}
	return "all is fine"
}

// findError makes a problem of an error, with the mend that it would have at
// any command.
func (d *diagnosis) findError(about string, err error) {
	d.add(problem, about, hint(err), "%s", strings.TrimSuffix(err.Error(), "."))
}
