// This file implements the files that switch off hooks in a home or a project.

package injection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// These are the names of files that switch something off: all hooks, injection, or code annotation. They are in a home
// or in the directory [ProjectDir] of a project.
const (
	HooksOffFile     = "hooks.off"
	InjectionOffFile = "inject.off"
	AnnotateOffFile  = "annotate.off"
	ProjectDir       = trust.DirName
)

// ClientInjectionOffFile returns the name of the file that switches off injection for one client. The file is in the
// home. Setup writes this file if the person does not want injection. It cannot remove the hooks instead, because the
// same hooks also report prompts to oxbow.
func ClientInjectionOffFile(client string) string { return "inject." + client + ".off" }

// FindInjectionOffFile returns the path of the file with this name that switches injection off. It searches the home
// first. Then it searches the directory ProjectDir in each of the directories dirs and in all their parents. It
// returns "" if such a file does not exist.
func FindInjectionOffFile(fileName, home string, dirs ...string) string {
	if path := filepath.Join(home, fileName); pathExists(path) {
		return path
	}
	for _, dir := range dirs {
		for ; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
			if path := filepath.Join(dir, ProjectDir, fileName); pathExists(path) {
				return path
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	return ""
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SwitchInjectionIn is the argument of SwitchInjection.
type SwitchInjectionIn struct {
	ShouldSwitchOff bool `json:"off,omitempty"     flag:"-"`
	ProjectOnly     bool `json:"project,omitempty"          usage:"apply to the project of the working directory, and not to the home"`
	// root directory of the project, if only this project is switched ("" for the whole home)
	Root string `json:"root,omitempty"    flag:"-"`
}

// SwitchInjectionOut is the result of SwitchInjection.
type SwitchInjectionOut struct {
	IsSwitchedOff bool   `json:"off"`
	File          string `json:"file"`
	Changed       bool   `json:"changed"`
	// Injection means that hooks show texts of the memory to agents without being asked. OtherSwitchOffFile is the path
	// of another file than File that also switches injection off, so that injection is still off ("" without such a
	// file).
	OtherSwitchOffFile string `json:"still,omitempty"`
}

// Report returns a report that says whether oxbow shows texts to agents by itself now. It also says which file was
// written or removed to change the setting, or that nothing was changed. If another file (o.OtherSwitchOffFile) still
// stops oxbow from showing texts, the report contains a warning.
func (o SwitchInjectionOut) Report() (r report.Report) {
	shows := report.EffectVerb(o.IsSwitchedOff, "shows agents texts by itself", "shows agents no text by itself")
	if o.Changed {
		r.AddLinef(
			"oxbow %s from now on (%s was %s)",
			shows,
			o.File,
			report.EffectVerb(o.IsSwitchedOff, "removed", "made"),
		)
	} else {
		r.AddLinef("nothing was changed: oxbow %s already (%s %s)", shows, o.File,
			report.EffectVerb(o.IsSwitchedOff, "does not exist", "exists"))
	}
	if o.OtherSwitchOffFile != "" {
		r.Warnf("it is still off by %s", o.OtherSwitchOffFile)
	}
	return r
}

// SwitchInjection switches injection off or on by writing or removing a file. Only a person may do this. Sessions are
// recorded in both cases.
func SwitchInjection(ctx context.Context, w *verb.Workspace, in SwitchInjectionIn) (out SwitchInjectionOut, err error) {
	command := "oxbow inject on"
	if in.ShouldSwitchOff {
		command = "oxbow inject off"
	}
	err = verb.RequirePerson(w.WithSource(ctx), "decides what hooks put before models", command)
	if err != nil {
		return out, err
	}
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	dir := p.Dir()
	if in.ProjectOnly {
		dir = filepath.Join(in.Root, ProjectDir)
	}
	out = SwitchInjectionOut{IsSwitchedOff: in.ShouldSwitchOff, File: filepath.Join(dir, InjectionOffFile)}
	if in.ShouldSwitchOff {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return out, fmt.Errorf("making %s: %w", dir, err)
		}
		f, err := os.OpenFile(out.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return out, nil
		}
		out.Changed = err == nil
		if err == nil {
			err = f.Close()
		}
		return out, err
	}
	err = os.Remove(out.File)
	out.Changed = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if in.ProjectOnly {
		// Oxbow would mistake an empty directory for a home, so remove it. Remove fails if other files are in it, which
		// is fine.
		_ = os.Remove(dir)
	}
	out.OtherSwitchOffFile = FindInjectionOffFile(InjectionOffFile, p.Dir(), w.Dir)
	return out, err
}
