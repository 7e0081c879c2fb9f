-- ARGV[3] segment, ARGV[4] fence, ARGV[5] error or '', ARGV[6] '1' to give the segment up.
-- {'ok'} | {'lost'} | {'absent'}
if not present() then return {'absent'} end
local s = find_segment(ARGV[3])
if not s or s.fence ~= ARGV[4] or s.state ~= 'running' then return {'lost'} end
hand_back(ARGV[3], s, 'release', ARGV[5], ARGV[6] == '1')
return {'ok'}
