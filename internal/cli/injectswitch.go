// This file implements the commands "oxbow inject on" and "oxbow inject off". They decide whether hooks show memory to
// a model.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

// newInjectionSwitchCommands returns the commands inject status, inject off and inject on.
func (mem *lazyMemory) newInjectionSwitchCommands() []*cobra.Command {
	one := func(c *cobra.Command) *cobra.Command {
		c.Args = requireArgCount(0, 0, "")
		return setUpReportCommand(
			mem,
			c,
			injection.SwitchInjection,
			func(in *injection.SwitchInjectionIn, _ *flagSet, _ []string) error {
				in.ShouldSwitchOff = c.Name() == "off"
				if !in.ProjectOnly {
					return nil
				}
				p, err := mem.env.projectOf(".")
				in.Root = p.RootDir
				return err
			},
		)
	}
	return []*cobra.Command{
		setUpReportCommand(mem, &cobra.Command{
			Use:     "status",
			Short:   "Say whether hooks show texts to agents, and if not, why",
			Example: `  oxbow inject status`,
			Args:    requireArgCount(0, 0, ""),
		}, injection.ReportHookState, func(*injection.HookStateIn, *flagSet, []string) error { return nil }),
		one(&cobra.Command{
			Use:   "off",
			Short: "Stop hooks from showing texts to agents",
			Example: `  oxbow inject off                  # for this home
  oxbow inject off --project        # for the project of this directory`,
		}),
		one(&cobra.Command{
			Use:     "on",
			Short:   "Let hooks show texts to agents again",
			Example: `  oxbow inject on --project`,
		}),
	}
}
