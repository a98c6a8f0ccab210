// "oxbow bench": where the measurements are that anyone can repeat.

package command

import (
	"errors"

	"github.com/spf13/cobra"
)

// benchCommand says where the measurement of recall is: a program of its own,
// so that this one holds neither the readers of data sets nor a client of
// embedding endpoints.
func (a *app) benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Say how to measure recall on public data sets",
		Long: `How well recall ranks is measured on LongMemEval, LoCoMo, QMSum and SciFact,
by a program of its own, in a clone of the repository:

  cd bench && go run . quality --data DIR

It takes the flags that "oxbow bench quality" had.`,
		Example:            `  oxbow help bench`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if args[0] == "-h" || args[0] == "--help" {
				return cmd.Help()
			}
			if args[0] != "quality" {
				return misusef("oxbow help bench lists what there is", "unknown command %q for oxbow bench", args[0])
			}
			return &misuse{errors.New("bench quality is a program of its own now, with the same flags"),
				"in a clone of the repository: cd bench && go run . quality --data DIR"}
		},
	}
	return c
}
