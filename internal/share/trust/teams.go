// This file records the repositories whose team files the user trusts. The record is a separate file, because versions
// of oxbow without team files would damage its lines.

package trust

import (
	"context"
	"slices"
	"time"
)

// Team is a repository whose team files the user trusts.
type Team struct {
	ID    string    `json:"team"` // URL of the repository's remote, or path of the repository
	Since time.Time `json:"since"`
}

const teamsFile = "trusted-teams"

// Teams returns the trusted repositories. Lines that cannot be read are ignored.
func (l List) Teams() []Team { return parseTeams(l.readFile(teamsFile)) }

func parseTeams(file []byte) []Team { return parseLines(file, func(t *Team) string { return t.ID }) }

// AddTeam records that the user trusts the team files of a repository.
func (l List) AddTeam(ctx context.Context, id string, now time.Time) error {
	return l.replaceFile(ctx, teamsFile, func(old []byte) ([]byte, error) {
		return encodeLines(append(withoutTeam(parseTeams(old), id), Team{id, now.UTC()}))
	})
}

// RemoveTeam removes a repository from the record. wasRecorded reports whether it was there.
func (l List) RemoveTeam(ctx context.Context, id string) (wasRecorded bool, err error) {
	if !slices.ContainsFunc(l.Teams(), func(t Team) bool { return t.ID == id }) {
		return false, nil
	}
	return true, l.replaceFile(ctx, teamsFile, func(old []byte) ([]byte, error) {
		return encodeLines(withoutTeam(parseTeams(old), id))
	})
}

func withoutTeam(teams []Team, id string) []Team {
	return slices.DeleteFunc(teams, func(t Team) bool { return t.ID == id })
}

// A sharedFile is the hash of a team file that this user wrote.
type sharedFile struct {
	Hash string `json:"print"`
}

const sharesFile = "shared-entries"

// maxShares is the maximum number of recorded hashes. If there are more, the oldest are removed.
const maxShares = 10_000

// AddSharedFile records the hash of a team file that this user wrote.
func (l List) AddSharedFile(ctx context.Context, hash string) error {
	return l.replaceFile(ctx, sharesFile, func(old []byte) ([]byte, error) {
		all := append(parseSharedFiles(old), sharedFile{hash})
		return encodeLines(all[max(0, len(all)-maxShares):])
	})
}

// WrittenTeamFiles returns the hashes of the team files that this user wrote.
func (l List) WrittenTeamFiles() map[string]bool {
	prints := map[string]bool{}
	for _, s := range parseSharedFiles(l.readFile(sharesFile)) {
		prints[s.Hash] = true
	}
	return prints
}

func parseSharedFiles(file []byte) []sharedFile {
	return parseLines(file, func(s *sharedFile) string { return s.Hash })
}
