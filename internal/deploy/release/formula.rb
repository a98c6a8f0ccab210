# Installs by a Homebrew formula without Homebrew, which cannot be installed from a package of Debian. It has the parts
# of Homebrew's language that the formula of oxbow uses. An unknown word of the formula is an error.
#
#   ruby formula.rb FORMULA DIST DOWNLOADS VERSION PREFIX
#
# The formula's URL must be below DOWNLOADS, and its checksum must be that of the file with this name in DIST.
require "digest"
require "fileutils"
require "tmpdir"

FORMULA, DIST, DOWNLOADS, VERSION, PREFIX = ARGV

module Hardware
  module CPU
    def self.intel? = RbConfig::CONFIG["host_cpu"] == "x86_64"
    def self.arm? = RbConfig::CONFIG["host_cpu"] == "aarch64"
    def self.is_64_bit? = true
  end
end

# A directory of the installation, such as bin.
class Directory
  def initialize(path) = @path = File.join(PREFIX, path)
  def to_s = @path

  # Installs a file, several files, or files with new names.
  def install(what)
    FileUtils.mkdir_p(@path)
    pairs = what.is_a?(Hash) ? what.to_a : Array(what).map { |f| [f, File.basename(f)] }
    raise "nothing to install in #{@path}" if pairs.empty?
    pairs.each { |from, to| FileUtils.cp(from, File.join(@path, to)) }
  end
end

class Formula
  class << self
    attr_reader :values, :trial

    %i[desc homepage version license url sha256].each do |word|
      define_method(word) { |value, **_| (@values ||= {})[word] = value }
    end
    def on_linux = yield
    def on_macos = nil
    def depends_on(system) = (raise "it is for #{system}" unless system == :linux)
    def test(&block) = @trial = block
  end

  { bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d" }.each do |name, path|
    define_method(name) { Directory.new(path) }
  end

  def system(*command) = Kernel.system(*command, exception: true)
end

load FORMULA
values = Oxbow.values
%i[desc homepage version license url sha256].each { |word| raise "no #{word}" if values[word].to_s.empty? }
raise "version #{values[:version]}" unless values[:version] == VERSION
raise "#{values[:url]} is not below #{DOWNLOADS}" unless values[:url].start_with?(DOWNLOADS)
archive = File.join(DIST, values[:url].delete_prefix(DOWNLOADS))
raise "another checksum than #{archive}" unless Digest::SHA256.file(archive).hexdigest == values[:sha256]
Dir.mktmpdir do |dir|
  Kernel.system("tar", "-xzf", archive, "-C", dir, exception: true)
  Dir.chdir(dir) do
    formula = Oxbow.new
    formula.install
    formula.instance_eval(&Oxbow.trial)
  end
end
