// This file implements the command "oxbow doctor".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb/clients"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) doctorCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "doctor",
		Short: "Look for what may be wrong, and say how to mend it",
		Long: `Doctor looks at the memory and what is around it: how the home was found, the
homes that MCP clients start oxbow on, the kind of file system, space,
permissions, the lock, the clock, the version, files left over, and whether the
memory opens and is the newest. It changes nothing. The exit
status is 1 when there is a problem; warnings alone are none.`,
		Example: `  oxbow doctor
  oxbow doctor --full            # also reads every byte, as oxbow check does
  oxbow doctor --json`,
	}, maintenance.Doctor, func(in *maintenance.DoctorIn, _ *flagSet, _ []string) error {
		in.Clients = a.inspection()
		return nil
	}, a.showFindings)
}

// inspection returns an inspection that examines how clients are set up. It returns nil if too
// little is known about the machine.
func (a *app) inspection() *setup.Inspection {
	var in clients.SetupIn
	place, err := a.memoryPlace()
	if err != nil || a.prepareSetup(&in) != nil {
		return nil
	}
	return in.Inspection(place)
}

// showFindings prints the findings, each on one line unless it must be wrapped.
func (a *app) showFindings(out maintenance.DoctorOut) {
	counts := map[string]int{}
	for _, f := range out.Findings {
		counts[f.Level]++
		colours := map[string]string{"problem": termtext.Red, "warning": termtext.Bold, "ok": termtext.Green}
		code, shown := colours[f.Level]
		if a.quiet && (!shown || code == termtext.Green) {
			continue
		}
		line := f.What
		if f.Mend != "" {
			line += "; mend: " + a.asTyped(f.Mend)
		}
		a.hang(a.paint(code, pad(f.Level, 7))+"  "+pad(f.About, 11)+"  ", oneLine(line))
	}
	if !a.quiet {
		a.printf("%s\n", summary(counts["problem"], counts["warning"], out.Full))
	}
}

func summary(problems, warnings int, full bool) string {
	p, w := count(problems, "problem", "problems"), count(warnings, "warning", "warnings")
	switch {
	case problems > 0 && warnings > 0:
		return p + ", " + w
	case problems > 0:
		return p
	case warnings > 0:
		return "it works, with " + w
	}
	if !full {
		return "nothing wrong was found; oxbow doctor --full also reads every byte of the memory"
	}
	return "all is fine"
}
