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

func importCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "import PATH…",
		Short: "Import notes, exports and chats of other programs",
		Long: `Import recognizes by the files which program wrote each PATH, or you name the
program with --from. Notes, and what a program calls a memory, become entries:
Markdown files and vaults, exports of oxbow, chat logs in JSON lines, and the
memories of basic-memory, claude-mem, Cursor, engram, mem0, OpenClaw and the
MCP memory server. Conversations go into the archive of sessions: exports of
ChatGPT and Claude, and transcripts of agents. A ZIP archive is read like a
directory. "-" is standard input.

If you import the same files again, nothing changes. If a record cannot be
imported, the output names it with its file and line, all other records are
imported, and the exit status is 1. By default, the output names one record of
each kind, and with --verbose all. Files without text, and files of other types
in a directory, are skipped with exit status 0.

An import replaces an entry only if an earlier import added it and nobody has
edited it since. A text that you or your agents wrote stays: the import adds
its entry as "NAME (2)". If your copy of the same entry is newer, it is
reported and skipped. --overwrite replaces these entries.

PROGRAM is one of
` + importSourceList() + `.

If an alias already belongs to another entry, the import leaves it out and
reports it. A Markdown entry gets its name from its front matter, its heading
or its file. The file name becomes an alias, because links lead to it. Other
keys of front matter, and fields of records, become labels. A value that cannot
be a label is put above the text. If a note has only properties, these become
its text. In vaults, words such as #tag become tags. Hidden directories are
skipped unless you name them. If a sync program left a conflict copy of a note,
the copy is named after its file. The next import finds the record of a program
by its ID.`,
		Example: `  oxbow import notes/
  oxbow import conversations.json     # an export of ChatGPT or Claude
  oxbow import --from mem0 export.json --dry-run
  oxbow export --home ~/old | oxbow import -`,
		Args: requireArgCount(1, -1, "a file or directory"),
	}
	var verbose bool
	var from string
	setUpFlagsAndArgs(c, func(ctx context.Context, in imports.ImportIn, args []string) error {
		in.SourceName = from
		if err := imports.CheckSourceName(from); err != nil {
			return asUsageError(err)
		}
		return mem.importPaths(ctx, in, args, verbose)
	})
	for name, usage := range map[string]string{
		"from":   "import data of this `PROGRAM` (see Details); by default it is recognized by the files",
		"format": "", // In earlier versions, the flag --from had this name.
	} {
		c.Flags().StringVar(&from, name, "", usage)
		complete := func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			isOther := func(source string) bool { return !strings.HasPrefix(source, word) }
			return slices.DeleteFunc(imports.SourceNames(), isOther), cobra.ShellCompDirectiveNoFileComp
		}
		_ = c.RegisterFlagCompletionFunc(name, complete) // Ignore the error: the flag exists.
	}
	_ = c.Flags().MarkHidden("format") // Ignore the error: the flag exists.
	c.Flags().BoolVar(&verbose, "verbose", false, "name every record that was not imported, not only one of each kind")
	return c
}

// importSourceList returns the names of programs and formats that can be imported, in lines that fit the help.
func importSourceList() string {
	var lines []string
	line := ""
	for _, name := range imports.SourceNames() {
		if len(line)+len(name) > 74 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+", "+name, ", ")
	}
	return strings.Join(append(lines, line), ",\n")
}

// importPaths imports files and directories, and prints the result.
func (mem *lazyMemory) importPaths(ctx context.Context, in imports.ImportIn, paths []string, verbose bool) (err error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	in.Inputs = map[string]io.Reader{}
	in.ProjectDir = mem.finder.projectRootOfHome()
	in.InterruptRead = stop
	in.NoChangeList = !mem.env.wantsJSON
	in.PrepareSessions = mem.prepareSessionImport
	for _, path := range paths {
		if path == "" {
			return usageErrorf("a script's variable may be unset; . is the working directory", "a path is empty")
		}
		name, r := stdinName, mem.env.Stdin
		if path != "-" {
			name, err = mem.env.absolutePath(path)
			if err != nil {
				return err
			}
			r = openIfPipe(name)
		}
		if r != nil {
			in.Inputs[name] = &interruptibleReader{ctx: reading, r: r}
		}
		in.Paths = append(in.Paths, name)
	}
	out, err := callVerbRawError(ctx, mem, imports.Import, in)
	if errors.Is(err, fs.ErrNotExist) {
		err = &hintedError{err, "check the path"}
	}
	hasResult := out.AddedEntryCount+out.UpdatedEntryCount > 0 || len(out.Clients) > 0
	if err != nil && !hasResult {
		return err
	}
	// After an error, print the result if entries were imported before the error, because they stay in the memory.
	out.ShouldListAllMessages = verbose
	return choosePrintOrVerbError(printResult(mem, out, answerPrinter[imports.ImportOut](mem)), err)
}

// stdinName is how messages name standard input.
const stdinName = "standard input"

// openIfPipe returns a reader for a file that is not regular, such as /dev/stdin or the pipe that a shell creates for
// <(COMMAND). Such a file does not have a name in a directory. It is opened in the background, because opening a pipe
// may wait for the pipe's other end. For a regular file, a directory or a missing file, openIfPipe returns nil.
func openIfPipe(path string) io.Reader {
	fi, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if fi.IsDir() || fi.Mode().IsRegular() {
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

// projectRootOfHome returns the project directory to which the home belongs. This is the directory that contains the
// home, if the home's own name is .oxbow. For any other home, the result is "".
func (finder *homeFinder) projectRootOfHome() string {
	home, err := finder.homePath()
	if err != nil || filepath.Base(home) != homeDirName {
		return ""
	}
	return filepath.Dir(home)
}
