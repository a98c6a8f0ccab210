// This file holds "oxbow remember".

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) rememberCommand() *cobra.Command {
	var file string
	var v *verb
	c := &cobra.Command{
		Use:   "remember [NAME [TEXT]]",
		Short: "Keep an entry, or update the one of that name",
		Long: `Remember keeps a text under a name. The text is the second argument, or
--content, or a file, or standard input. A name that is in use is updated: what
you leave out (tags, aliases, project) stays as it was. Without a name, the
first line of the text names the entry. --project auto labels with the project
of the working directory, as oxbow label project names it.`,
		Example: `  oxbow remember style "Tabs, not spaces."
  oxbow remember style --content "Tabs." --tag go --project site --alias tabs
  oxbow remember runbook --file RUNBOOK.md
  git log -1 --format=%B | oxbow remember --tag commit`,
		Args: args(0, 2, "a NAME and a TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			more := map[string]any{}
			if len(args) > 0 {
				if strings.TrimSpace(args[0]) == "" {
					return misusef("leave it out to have one made from the first line", "the name is empty")
				}
				more["name"] = args[0]
			}
			text, err := a.content(v, file, args)
			if err != nil {
				return err
			}
			more["content"] = text
			if p := v.flag("project"); p.set && p.values[0] == autoProject {
				project, err := a.project(".")
				if err != nil {
					return err
				}
				more["project"] = project.Name
			}
			got, err := v.run(cmd.Context(), a, more)
			if err != nil {
				return err
			}
			return answer(a, got, a.showRemembered)
		},
		ValidArgsFunction: a.completeName(1),
	}
	v = newVerb(c, "remember", []string{"name"}, map[string]string{"related_files": "related"})
	a.completeLabels(c)
	c.Flags().StringVarP(&file, "file", "f", "", "read the content from `FILE`; - is standard input")
	return c
}

// content returns the text to remember, from the one place that was given.
func (a *app) content(v *verb, file string, args []string) (string, error) {
	given := 0
	for _, is := range []bool{len(args) == 2, v.given("content"), file != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return "", misusef("give one of TEXT, --content and --file", "the content is given twice")
	case len(args) == 2 && args[1] != "-":
		return args[1], nil
	case v.given("content") && v.flag("content").values[0] != "-":
		return v.flag("content").values[0], nil
	case file != "":
		return a.readFile(file)
	case given == 0 && a.env.StdinTerm && len(args) == 1 && strings.ContainsAny(args[0], " \n"):
		return "", misusef("did you mean: oxbow remember --content "+quote(args[0]), "one argument is a name, and there is no content for it")
	case given == 0 && a.env.StdinTerm:
		return "", misusef("for example: oxbow remember style \"Tabs, not spaces.\"", "there is nothing to remember: no content is given")
	}
	return a.readStdin()
}

func (a *app) showRemembered(out *tool.RememberOut) {
	word := map[string]string{"added": "remembered", "updated": "updated", "unchanged": "already remembered"}[out.Outcome]
	if a.quiet {
		a.printf("%s\n", out.Entry.Name)
		return
	}
	a.printf("%s %s%s\n", word, a.bold(out.Entry.Name), a.changeText(out.Entry.Version))
	a.showNotes(out.Notes)
}
