// This file records the repositories whose team files the user trusts. A team file is a file with an entry that people
// share in a repository. The record is a separate file and does not belong to the list of trusted homes, because older
// oxbow versions do not know team files and would damage the lines about teams in that list.

package trust

import (
	"context"
	"slices"
	"time"
)

// Team is a repository whose team files the user trusts.
type Team struct {
	ID         string    `json:"team"` // URL of the repository's remote, or the repository's path
	RecordTime time.Time `json:"since"`
}

const teamsFile = "trusted-teams"

// Teams returns the trusted repositories. Lines that cannot be read are ignored.
func (l List) Teams() []Team { return parseTeams(l.readFile(teamsFile)) }

func parseTeams(file []byte) []Team {
	return parseJSONLines(file, func(t *Team) string { return t.ID })
}

// AddTeam records that the user trusts the team files of a repository.
func (l List) AddTeam(ctx context.Context, id string, now time.Time) error {
	return l.replaceFile(ctx, teamsFile, func(old []byte) ([]byte, error) {
		return encodeJSONLines(append(withoutTeam(parseTeams(old), id), Team{id, now.UTC()}))
	})
}

// RemoveTeam removes the repository with the given ID from the file teamsFile, which lists the repositories whose team
// files the user trusts. The ID is the URL of the repository's remote, or the repository's path. If the file does not
// list the repository, wasRecorded is false and the file does not change.
func (l List) RemoveTeam(ctx context.Context, id string) (wasRecorded bool, err error) {
	if !slices.ContainsFunc(l.Teams(), func(t Team) bool { return t.ID == id }) {
		return false, nil
	}
	return true, l.replaceFile(ctx, teamsFile, func(old []byte) ([]byte, error) {
		return encodeJSONLines(withoutTeam(parseTeams(old), id))
	})
}

func withoutTeam(teams []Team, id string) []Team {
	return slices.DeleteFunc(teams, func(t Team) bool { return t.ID == id })
}

// A teamFileHash is the recorded hash of a team file that this user wrote. A team file is a Markdown file with an entry
// that people share in a repository.
type teamFileHash struct {
	Hash string `json:"print"`
}

const teamFileHashesFile = "shared-entries"

// maxTeamFileHashes is the maximum number of recorded hashes. If there are more, the oldest are removed.
const maxTeamFileHashes = 10_000

// AddSharedFile records the hash of a team file that this user wrote.
func (l List) AddSharedFile(ctx context.Context, hash string) error {
	return l.replaceFile(ctx, teamFileHashesFile, func(old []byte) ([]byte, error) {
		all := append(parseTeamFileHashes(old), teamFileHash{hash})
		return encodeJSONLines(all[max(0, len(all)-maxTeamFileHashes):])
	})
}

// WrittenTeamFiles returns the hashes of the team files that this user wrote.
func (l List) WrittenTeamFiles() map[string]bool {
	prints := map[string]bool{}
	for _, s := range parseTeamFileHashes(l.readFile(teamFileHashesFile)) {
		prints[s.Hash] = true
	}
	return prints
}

func parseTeamFileHashes(file []byte) []teamFileHash {
	return parseJSONLines(file, func(s *teamFileHash) string { return s.Hash })
}
