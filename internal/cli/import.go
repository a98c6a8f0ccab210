// This file implements the command "oxbow import".

package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/imports"
)

func importCommand(mem *openMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "import PATH…",
		Short: "Bring in notes, exports and chats of other programs",
		Long: `Import tells by each PATH which program wrote it, or --from says so. Notes and
what a program calls a memory become entries: Markdown (*.md) and vaults,
exports of oxbow, chat logs in JSON lines, and what basic-memory, claude-mem,
Cursor, engram, mem0, OpenClaw and the MCP memory server keep. Conversations go
into the archive of sessions: exports of ChatGPT and Claude, and transcripts of
agents. A ZIP archive is read like a directory. "-" is standard input.
Importing the same again changes nothing. What cannot be taken is named with
its file and line, one of each kind unless --verbose, and the rest is taken:
the exit status is 1 then, and 0 when only files without text, or in
directories those of other endings, were passed over.

An import replaces an entry only if an earlier import brought it and nobody has
edited it since. Text that you or your agents wrote stays: another entry of that
name is added as "NAME (2)", a newer copy of the same entry is reported and
skipped. --overwrite replaces it.

PROGRAM is one of
` + sourceList() + `.
An alias that leads to another entry already is left off, which is said. A
Markdown entry is named by its front matter, its heading or its file; the file's
name is an alias, since links lead to it. Further keys of front matter, and
fields of records, become labels; a value that no label can have is put above
the text. A note that has only properties is an entry with these as its text.
In vaults, #tags in the text are tags, too. Hidden directories are passed over
unless you name them. The copy that a sync program left of a note in conflict is
named by its file. A record of a program is found again by its ID.`,
		Example: `  oxbow import notes/
  oxbow import conversations.json     # an export of ChatGPT or Claude
  oxbow import --from mem0 export.json --dry-run
  oxbow export --home ~/old | oxbow import -`,
		Args: argCount(1, -1, "a file or directory"),
	}
	var verbose bool
	var from string
	setUpArguments(c, func(ctx context.Context, in imports.In, args []string) error {
		in.From = from
		if err := imports.CheckSource(from); err != nil {
			return badArgument(err)
		}
		return mem.importFrom(ctx, in, args, verbose)
	})
	for name, usage := range map[string]string{
		"from":   "read what this `PROGRAM` wrote, by default told by each path (see Details)",
		"format": "", // the flag's name in earlier versions
	} {
		c.Flags().StringVar(&from, name, "", usage)
		complete := func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			isOther := func(source string) bool { return !strings.HasPrefix(source, word) }
			return slices.DeleteFunc(imports.Sources(), isOther), cobra.ShellCompDirectiveNoFileComp
		}
		_ = c.RegisterFlagCompletionFunc(name, complete) // the flag exists, so this cannot fail
	}
	_ = c.Flags().MarkHidden("format") // the flag exists, so this cannot fail
	c.Flags().BoolVar(&verbose, "verbose", false, "name all that was not taken, not one of each kind")
	return c
}

// sourceList returns the names of programs and formats, in lines that fit the help.
func sourceList() string {
	var lines []string
	line := ""
	for _, name := range imports.Sources() {
		if len(line)+len(name) > 74 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+", "+name, ", ")
	}
	return strings.Join(append(lines, line), ",\n")
}

// importFrom imports files and directories.
func (mem *openMemory) importFrom(ctx context.Context, in imports.In, paths []string, verbose bool) (err error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	in.Inputs = map[string]io.Reader{}
	in.Root = mem.finder.projectRoot()
	in.Interrupt = stop
	in.Brief = !mem.env.json
	in.PrepareSessions = mem.finder.prepareSessionImport
	for _, path := range paths {
		if path == "" {
			return misusef("a script's variable may be unset; . is the working directory", "a path is empty")
		}
		name, r := stdinName, mem.env.Stdin
		if path != "-" {
			name, err = mem.env.absolutePath(path)
			if err != nil {
				return err
			}
			r = openPipe(name)
		}
		if r != nil {
			in.Inputs[name] = &interruptible{ctx: reading, r: r}
		}
		in.Paths = append(in.Paths, name)
	}
	out, err := attempt(ctx, mem, imports.Import, in)
	if errors.Is(err, fs.ErrNotExist) {
		err = &hintedError{err, "check the path"}
	}
	if err != nil && out.Added+out.Updated == 0 && len(out.Clients) == 0 {
		return err
	}
	// Print the result even after an error, because the entries imported before it remain.
	out.ListsAll = verbose
	failed := answer(mem, out, show[imports.Out](mem))
	if failed != nil && (err == nil || !errors.Is(failed, errReported)) {
		return failed
	}
	return err
}

// stdinName is the name of standard input in messages.
const stdinName = "standard input"

// openPipe returns a reader for a file that is not regular, such as /dev/stdin or the pipe that a
// shell creates for <(COMMAND). Such a file has no name in a directory, and opening it may block,
// so it is opened in the background. For a regular file, a directory or a missing file, openPipe
// returns nil.
func openPipe(path string) io.Reader {
	if fi, err := os.Stat(path); err != nil || fi.IsDir() || fi.Mode().IsRegular() {
		return nil
	}
	r, w := io.Pipe()
	go func() {
		f, err := os.Open(path)
		if err == nil {
			_, err = io.Copy(w, f)
		}
		w.CloseWithError(err)
	}()
	return r
}

// projectRoot returns the project directory to which a home .oxbow belongs, or "" for another
// home.
func (finder *homeFinder) projectRoot() string {
	home, err := finder.home()
	if err != nil || filepath.Base(home) != homeDir {
		return ""
	}
	return filepath.Dir(home)
}
