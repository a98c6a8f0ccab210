// oxbow bench: where the measurements are that anyone can repeat.

package command

import "github.com/spf13/cobra"

// benchCommand says where the measurement of recall is: a program of its own,
// so that this one holds neither the readers of data sets nor a client of
// embedding endpoints.
func (a *app) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "bench",
		Short: "Say how to measure recall on public data sets",
		Long: `How well recall ranks is measured on LongMemEval, LoCoMo, QMSum and SciFact,
by a program of its own, in a clone of the repository:

  cd bench && go run . quality --data DIR`,
		Example:            `  oxbow help bench`,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		Args:               cobra.ArbitraryArgs,
		RunE:               group("bench"),
	}
}
