-- ARGV[3] segment, ARGV[4] the first unit of the tail. {'ok', id of the tail} | {'none'} | {'absent'}
if not present() then return {'absent'} end
local s, at = find_segment(ARGV[3]), whole(ARGV[4], 'the first unit')
if not s or (s.state ~= 'ready' and s.state ~= 'running') or at <= s.cur or at >= s.hi then return {'none'} end
return {'ok', split_at(ARGV[3], s, at)}
