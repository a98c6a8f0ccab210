// This file describes the machine on which the results of the benchmarks were measured.

package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// describeMachine describes in one line the conditions for the figures: cores, processor, operating system, Go
// version, the file system of dir, and the load before the measurement. The load is the mean number of runnable tasks
// in the last minute; timings are noisy if it is not near 0. Values that the platform does not provide are left out.
func describeMachine(goos string, readFile func(string) ([]byte, error), dir string) string {
	parts := []string{fmt.Sprintf("%d cores", runtime.NumCPU())}
	if runtime.NumCPU() == 1 {
		parts[0] = "1 core"
	}
	if goos == "linux" {
		if b, err := readFile("/proc/cpuinfo"); err == nil {
			if m := cpuModel(string(b)); m != "" {
				parts = append(parts, m)
			}
		}
	}
	system := goos + "/" + runtime.GOARCH
	if goos == "linux" {
		if b, err := readFile("/proc/sys/kernel/osrelease"); err == nil {
			system += " " + strings.TrimSpace(string(b))
		}
	}
	parts = append(parts, system, runtime.Version())
	if goos == "linux" {
		if b, err := readFile("/proc/self/mountinfo"); err == nil {
			if fs := fileSystemType(string(b), dir); fs != "" {
				parts = append(parts, "file system "+fs)
			}
		}
	}
	if goos == "linux" {
		if b, err := readFile("/proc/loadavg"); err == nil {
			if load, _, ok := strings.Cut(string(b), " "); ok {
				parts = append(parts, "load "+load+" before")
			}
		}
	}
	return strings.Join(parts, ", ")
}

// cpuModel returns the processor's name from the text of /proc/cpuinfo, or "".
func cpuModel(info string) string {
	for line := range strings.Lines(info) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// fileSystemType returns the type of the file system that contains dir, from the text in /proc/self/mountinfo, or "".
// The format is described in proc_pid_mountinfo(5): the fifth field is the mount point, and the type follows a single
// hyphen.
func fileSystemType(mountTable, dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	best, kind := -1, ""
	for line := range strings.Lines(mountTable) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		hasFields := len(left) >= 5 && len(right) > 0
		if !ok || !hasFields {
			continue
		}
		point := strings.ReplaceAll(left[4], `\040`, " ")
		under := abs == point || strings.HasPrefix(abs, strings.TrimSuffix(point, "/")+"/")
		// A later mount on the same point hides the earlier one.
		if under && len(point) >= best {
			best, kind = len(point), right[0]
		}
	}
	return kind
}
