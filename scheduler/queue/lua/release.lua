-- ARGV[3] segment, ARGV[4] fence, ARGV[5] error or '', ARGV[6] '1' to give the segment up.
-- {'ok'} | {'lost'} | {'absent'}
if not present() then return {'absent'} end
local s = redis.call('HMGET', seg(ARGV[3]), 'fence', 'state')
if s[1] ~= ARGV[4] or s[2] ~= 'running' then return {'lost'} end
hand_back(ARGV[3], 'release', ARGV[5], ARGV[6] == '1')
return {'ok'}
