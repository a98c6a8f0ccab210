// This file implements the command "oxbow session import".

package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func sessionImportCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "import [CLIENT…|all]",
		Short: "Add what clients have kept of their sessions themselves",
		Long: `Import reads the transcripts that Claude Code, Codex, Gemini CLI, Copilot CLI
and Qwen Code keep in your own directory, and adds what the archive does not
have yet. The next import goes on where this one ended. Secrets are taken out
first; the clients' files stay as they are.`,
		Example: `  oxbow session import --dry-run
  oxbow session import claude --since 30d`,
	}, sessions.ImportSessions, func(in *sessions.ImportSessionsIn, _ *flagSet, args []string) error {
		in.Clients = args
		return mem.finder.prepareSessionImport(in)
	})
}

// prepareSessionImport sets the fields for this machine that a session import needs.
func (finder *homeFinder) prepareSessionImport(in *sessions.ImportSessionsIn) error {
	in.Home = finder.env.userHome()
	if in.DryRun {
		return nil
	}
	home, err := finder.archiveHome()
	if err != nil {
		return err
	}
	in.Read = func(unread func(transcript.UnreadLine)) session.Reader {
		return transcript.Reader(cleaner(home), unread)
	}
	return os.MkdirAll(filepath.Join(home, session.SpoolDir), 0o700) // the archive is created if there is a spool
}
