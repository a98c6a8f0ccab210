// This file recovers the readable parts of damaged sidecars.

package annotate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow/vfs"
)

// RecoverResult describes how [Store.RecoverSidecars] repaired one sidecar.
type RecoverResult struct {
	File            string // path of the sidecar, relative to the tree's root
	UnreadableLines int    // number of lines in the annotation file (sidecar) that could not be read
	// RestoredLines is the number of annotations and events that were found inside damaged lines and written to the
	// sidecar.
	RestoredLines int
	BackupFile    string // new file that contains the unreadable lines
}

// RecoverSidecars repairs sidecars that contain unreadable lines. It moves these lines unchanged to a new file next to
// the sidecar. If such a line contains complete annotations, for example because two lines were joined, it restores
// the annotations. Readable lines stay in the sidecar. A dry run changes nothing. Errors match [oxbow.ErrBusy] or the
// errors of package io/fs.
func (b *Store) RecoverSidecars(ctx context.Context, dryRun bool) ([]RecoverResult, error) {
	var all []RecoverResult
	err := b.walkSidecars(ctx, func(name string) error {
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		if len(s.damagedLines) == 0 && !s.hasIncompleteLastLine {
			return nil
		}
		saved, err := b.recoverSidecar(ctx, name, dryRun)
		if err == nil {
			all = append(all, saved)
		}
		return err
	})
	if err != nil {
		return all, fmt.Errorf("recovering annotations: %w", err)
	}
	return all, nil
}

func (b *Store) recoverSidecar(ctx context.Context, name string, dryRun bool) (result RecoverResult, err error) {
	full := path.Join(b.sidecarDir, name)
	if !dryRun {
		unlock, lockErr := b.lockWriters(ctx)
		if lockErr != nil {
			return result, lockErr
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	data, err := vfs.ReadFile(b.worktree, full, maxSidecarBytes)
	if err != nil {
		return result, err
	}
	result.File = full
	var good, bad []byte
	for l := range bytes.Lines(data) {
		text := bytes.TrimRight(l, "\r\n")
		if _, _, _, err := parseSidecarLine(text); err == nil {
			good = append(append(good, text...), '\n')
			continue
		}
		result.UnreadableLines++
		bad = append(append(bad, text...), '\n')
		for _, p := range completeLinesIn(text) {
			result.RestoredLines++
			good = append(append(good, p...), '\n')
		}
	}
	result.BackupFile, err = b.unusedBackupName(full)
	if err != nil {
		return result, err
	}
	if dryRun || result.UnreadableLines == 0 {
		return result, nil
	}
	// Write the backup of the unreadable lines before the repaired file, so that a crash loses nothing.
	if err := vfs.WriteFile(b.worktree, result.BackupFile, bad, 0o644); err != nil {
		return result, err
	}
	return result, vfs.WriteFile(b.worktree, full, good, 0o644)
}

// maxBackupNames is the maximum number of names that unusedBackupName tries.
const maxBackupNames = 1000

// unusedBackupName returns an unused file name for a backup of the damaged file filePath. The name is filePath with the
// suffix ".damaged", followed by a number if other backups exist. If maxBackupNames backups exist, the error matches
// fs.ErrExist.
func (b *Store) unusedBackupName(filePath string) (string, error) {
	for n := range maxBackupNames {
		name := filePath + ".damaged"
		if n > 0 {
			name += fmt.Sprintf("-%d", n+1)
		}
		if _, err := b.worktree.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%s has %d damaged versions beside it: %w", filePath, maxBackupNames, fs.ErrExist)
}

// completeLinesIn returns the complete sidecar lines inside an unreadable line. A sidecar line is a JSON object that
// parseSidecarLine can parse. Other objects are ignored.
func completeLinesIn(text []byte) [][]byte {
	var found [][]byte
	const begin = `{"v":`
	for len(text) > 0 {
		i := bytes.Index(text, []byte(begin))
		if i < 0 {
			break
		}
		text = text[i:]
		var raw json.RawMessage
		if json.NewDecoder(bytes.NewReader(text)).Decode(&raw) == nil {
			if r, e, _, _ := parseSidecarLine(raw); r != nil || e != nil {
				found = append(found, raw)
				text = text[len(raw):]
				continue
			}
		}
		text = text[len(begin):]
	}
	return found
}
