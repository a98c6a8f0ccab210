// This file implements the command "oxbow inbox". It proposes notes that are made from what people said in sessions.

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
)

func inboxCommand(mem *lazyMemory) *cobra.Command {
	c := setUpReportCommand(mem, &cobra.Command{
		Use:   "inbox",
		Short: "Accept or drop what you asked agents to remember",
		Long: `Inbox lists proposals: sentences from your sessions with agents in which you
ask to remember something ("from now on…", "we decided…"), or correct what an
agent just did. Hooks report the sessions (see oxbow setup). A proposal becomes
a note only if you accept it. A dropped proposal does not return. Inbox also
says whether entries wait for oxbow approve or oxbow changed.

With OXBOW_INBOX=twice, inbox accepts what you asked for in two sessions. With
--project, it also lists the commands of the project that passed in at least
three sessions.`,
		Example: `  oxbow inbox
  oxbow inbox --project auto --json`,
		Args: requireArgCount(0, 0, "no arguments, or list, show, accept or drop"),
	}, review.ListProposals, mem.env.setInboxArguments)
	addSuccessHook(c, mem.printApprovalNotice)
	mem.addChangeNotice(c)
	c.AddCommand(inboxListCommand(mem), inboxShowCommand(mem), inboxAcceptCommand(mem), inboxDropCommand(mem))
	return c
}

func (env *environment) setInboxArguments(in *review.InboxIn, _ *flagSet, _ []string) (err error) {
	in.ShouldNoteRepeatedRequests = env.Getenv("OXBOW_INBOX") == "twice"
	in.Project, err = env.resolveProject(in.Project)
	return err
}

func inboxListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the proposals, the newest first",
		Example: "  oxbow inbox list --all",
		Args:    requireArgCount(0, 0, "no arguments"),
	}, review.ListProposals, mem.env.setInboxArguments)
}

func inboxShowCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "show ID",
		Short:   "Show a proposal with the whole prompt",
		Example: "  oxbow inbox show 3fa9",
		Args:    requireArgCount(1, 1, "the ID of a proposal"),
	}, review.ShowProposal, setPositionalArgs)
}

func inboxAcceptCommand(mem *lazyMemory) *cobra.Command {
	var edit, team bool
	accept := func(
		ctx context.Context,
		w *verb.Workspace,
		in review.AcceptProposalsIn,
	) (out sharing.ShareProposalsOut, err error) {
		if team {
			return sharing.ShareProposals(ctx, w, in)
		}
		out.AcceptProposalsOut, err = review.AcceptProposals(ctx, w, in)
		return out, err
	}
	c := setUpInputCommand(&cobra.Command{
		Use:   "accept ID…",
		Short: "Turn proposals into notes",
		Long: `Accept stores the sentence as a note, with its project, its files, and a label
from that names the turn. With --edit, you can first change the text in your
editor. oxbow undo takes this back. --team also moves the notes to the team's
files, like oxbow team share.`,
		Example: `  oxbow inbox accept 3fa9 81c0
  oxbow inbox accept 3fa9 --name prices --edit`,
		Args: requireArgCount(1, -1, "the IDs of proposals"),
	}, setPositionalArgs, func(ctx context.Context, in review.AcceptProposalsIn) error {
		if edit {
			return mem.acceptEditedProposal(ctx, accept, in)
		}
		return callAndReport(ctx, mem, accept, in)
	})
	c.Flags().BoolVar(&team, "team", false, "also move the notes to the team's files")
	c.Flags().BoolVar(&edit, "edit", false, "change the text in your editor first")
	return c
}

// acceptEditedProposal opens a proposal in the person's editor, and stores the edited text as a note.
func (mem *lazyMemory) acceptEditedProposal(
	ctx context.Context,
	accept verbFunc[review.AcceptProposalsIn, sharing.ShareProposalsOut],
	in review.AcceptProposalsIn,
) error {
	if len(in.IDs) != 1 {
		return usageErrorf("accept the others without it", "--edit takes one proposal at a time")
	}
	it, err := callVerb(ctx, mem, review.ShowProposal, review.ProposalIn{ID: in.IDs[0]})
	if err != nil {
		return err
	}
	var out sharing.ShareProposalsOut
	draft := editedText{
		textName:      "proposal",
		fileExtension: ".md",
		retryCommand:  "oxbow inbox accept " + it.ID + " --edit",
	}
	err = mem.finder.editTextInEditor(&draft, it.NoteText()+"\n", func(text string) (err error) {
		in.Content = strings.TrimSpace(text)
		if in.Content == "" {
			return usageErrorf("oxbow inbox drop "+it.ID+
				" puts it away", "the edited text is empty; nothing was remembered")
		}
		out, err = callVerb(ctx, mem, accept, in)
		return err
	})
	if err != nil {
		return err
	}
	return printResult(mem, out, answerPrinter[sharing.ShareProposalsOut](mem))
}

func inboxDropCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:     "drop ID…",
		Short:   "Drop proposals, which do not return",
		Example: "  oxbow inbox drop 3fa9",
		Args:    requireArgCount(1, -1, "the IDs of proposals"),
	}, review.DropProposals, setPositionalArgs, func(out review.InboxOut) {
		for _, it := range out.Proposals {
			mem.env.printf("dropped %s\n", it.ID)
		}
	})
}
