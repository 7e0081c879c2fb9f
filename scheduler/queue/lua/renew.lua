-- ARGV[3] segment, ARGV[4] fence. {'ok', hi} | {'lost'} | {'absent'}
if not present() then return {'absent'} end
local id = ARGV[3]
local s = redis.call('HMGET', seg(id), 'fence', 'state', 'hi', 'owner')
if s[1] ~= ARGV[4] then return {'lost'} end
if s[2] == 'done' then return {'ok', s[3]} end
if s[2] ~= 'running' then return {'lost'} end
redis.call('ZADD', key('lease'), lease_until(), id)
heartbeat(s[4])
return {'ok', s[3]}
