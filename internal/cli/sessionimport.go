// This file implements the command "oxbow session import".

package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func sessionImportCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "import [CLIENT…|all]",
		Short: "Add sessions from the files of clients",
		Long: `Import reads the transcripts of agents that are stored in your own directory,
and adds the turns that the archive does not have yet. The next import
continues where this one ended. Secrets are removed first. The clients' files
stay unchanged.`,
		Example: `  oxbow session import --dry-run
  oxbow session import claude --since 30d`,
	}, sessions.ImportSessions, func(in *sessions.ImportSessionsIn, _ *flagSet, args []string) error {
		in.Clients = args
		return mem.prepareSessionImport(in)
	})
}

// prepareSessionImport sets the fields of the input that depend on this machine.
func (mem *lazyMemory) prepareSessionImport(in *sessions.ImportSessionsIn) error {
	in.Home = mem.env.userHomeDir()
	if in.DryRun {
		return nil
	}
	home, err := mem.finder.archiveHome()
	if err != nil {
		return err
	}
	in.NewReader = func(report func(transcript.ReadReport)) session.TranscriptReader {
		return transcript.NewFinishedTranscriptReader(mem.newReportCleaner(), report)
	}
	spool := filepath.Join(home, session.SpoolDir)
	in.TakeHookReport = transcript.HookReportStore{Dir: spool}.TakeReport
	in.CalibrateFloor = injection.CalibrateArchiveFloor
	// The archive of sessions is created only in a home that contains the directory spool, so create this directory.
	return os.MkdirAll(spool, 0o700)
}
