// oxbow label project.

package command

import (
	"github.com/spf13/cobra"
)

func (a *app) labelProjectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "project [DIR]",
		Short: "Say the project that a directory belongs to",
		Long: `Project names the project of the working directory, or of DIR: the last element
of the URL of the git remote origin, else the directory of the git repository,
else the directory that holds .oxbow, else the directory itself. So all clones
and worktrees of a repository share one name. It is what
oxbow remember --project auto labels with.`,
		Example: `  oxbow label project
  oxbow remember style "Tabs." --project auto`,
		Args: args(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			p, err := a.project(dir)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Project string `json:"project"`
					Why     string `json:"why"`
					Root    string `json:"root"`
				}{p.Name, p.Why, p.Root})
			}
			a.printf("%s\n", p.Name)
			a.note("it is %s (%s)", p.Why, clean(p.Root))
			return nil
		},
	}
}
