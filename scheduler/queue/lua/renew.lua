-- ARGV[3] segment, ARGV[4] fence. {'ok', hi} | {'lost'} | {'absent'}
if not present() then return {'absent'} end
local id = ARGV[3]
local s = find_segment(id)
if not s or s.fence ~= ARGV[4] then return {'lost'} end
if s.state == 'done' then return {'ok', s.hi} end
if s.state ~= 'running' then return {'lost'} end
redis.call('ZADD', key('lease'), lease_until(), id)
heartbeat(s.owner)
return {'ok', s.hi}
